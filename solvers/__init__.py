"""Pure solvers: values in, values out; nothing here knows Blender's data (no bpy)."""
