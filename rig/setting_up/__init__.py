"""Making chains and changing them: from what is selected, found or converted to settings, controls and limits.

``setup`` is the way in. Edits alone lead here, never the evaluation of a frame.
"""
