"""The page: explanations of many graphs in one HTML file."""
