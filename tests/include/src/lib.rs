//! Only the tests count.
