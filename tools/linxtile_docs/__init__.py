"""Pages of the documentation that are made from the tables of ``linxtile.isa`` when the site is built."""
