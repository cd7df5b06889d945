"""Text that nobody vouches for, made safe; widths, canonical JSON, scrubbing, times and sizes in words.

Everything here is a pure function over strings and JSON values. It must never do I/O, look at a clock,
or import anything of the program but its own modules. Regular expressions are compiled at first use.
"""
