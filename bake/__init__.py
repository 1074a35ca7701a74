"""From live IK to keyframes: read all frames, then write.

Nothing here evaluates a pose by itself: ``rig`` does, as it does live.
"""
