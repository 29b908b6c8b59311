"""For machines: versioned routes, and who may call them."""
