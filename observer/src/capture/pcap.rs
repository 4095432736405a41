//! Packet captures, replayed through the very pairing machine that the probes run.
