// The calls that read a file, and what is said when they fail.
#pragma once

#include <cstddef>
#include <string>

namespace mercer {

[[noreturn]] void fail_reading(const std::string& name, int error);

/// A descriptor of the file; "-" is standard input. Throws InvalidInput.
int open_source(const std::string& path);

/// What can be had in one call; 0 at the end.
std::size_t read_some(int descriptor, char* out, std::size_t room, const std::string& name);

/// Bytes at a place, however many calls it takes. Reading rather than mapping files, because a
/// mapped file that another program shortens would end this one.
void fetch_bytes(int descriptor, std::size_t offset, char* out, std::size_t count,
                 const std::string& name);

}  // namespace mercer
