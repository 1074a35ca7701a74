"""The one place that joins Blender's data and the solvers."""
