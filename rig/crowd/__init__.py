"""Many plain two-bone chains at once, as arrays: ``solving`` is the way in, ``write`` the way out.

``limbs`` is their arithmetic, and that of bakes over many frames.
"""
