"""What is measured: a module for each race, which first checks that all contenders compute the same."""
