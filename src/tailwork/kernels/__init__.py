"""From recorded equations to machine code: graphs, LLVM, and a private cache of compiled objects."""
