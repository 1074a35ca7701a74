"""Many plain two-bone chains at once, as arrays: ``solving`` is the way in, ``write`` the way out.

``limbs`` is their arithmetic, and that of bakes over many frames. What is not plain, or stands
near an edge, is left to ``solve_chain``: nothing here may give another pose than it.
"""
