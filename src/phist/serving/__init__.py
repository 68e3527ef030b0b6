"""A saved model over HTTP: predictions, embeddings and explanations, with bounds on what a request may ask for."""
