"""Results as the output of a notebook's cell: HTML without a script, in the colours of the notebook."""
