"""Reading and writing files of every format that Blender knows, whole or not at all."""
