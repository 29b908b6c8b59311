"""Form editor for survey files: converts documents to form fields and back, without loss."""
