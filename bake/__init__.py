"""From live IK to keyframes: read all frames, then write."""
