"""The one place that joins Blender's data and the solvers.

Keys are written by ``bake``; nothing here reports to a person or draws.
"""
