"""NumPy oracles for float64 arrays, written from the papers in their own index form.

They share no code with the library: one source position, one row and one step at a
time, weights as keyword arguments in Keras's layout (`kernel` is [inputs, outputs],
so the paper's W x is x @ kernel). Slow on purpose.
"""
