"""Building blocks of researchers' pages: routes, forms, figures and charts."""
