"""Applications built from a brief: started, asked, killed and started again. Their own tests count; no model does."""
