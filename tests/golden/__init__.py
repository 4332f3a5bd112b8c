"""What hostnet measured, frozen: a table of runs that a person can read and compare line by line."""
