//! Statistics against published references.

mod coverage;
mod hostile;
mod reference;
