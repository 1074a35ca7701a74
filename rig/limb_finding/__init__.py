"""What ``limbs`` knows of skeletons: names, words, paths, shapes. No bpy anywhere here."""
