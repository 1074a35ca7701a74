"""The one place that joins Blender's data and the solvers.

Reading many frames and writing keys is ``bake``'s; nothing here reports to a person or draws.
"""
