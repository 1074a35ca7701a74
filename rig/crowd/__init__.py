"""Many plain two-bone chains at once, as arrays: ``solving`` is the way in, ``write`` the way out; ``limbs`` serves bakes, too."""
