// How much memory a source may take, and what is said when it wants more.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "mercer/data/rows.hpp"

namespace mercer {

[[noreturn]] void fail_memory(const std::string& name);

/// Bytes that may be taken for what a source of so many bytes holds: the memory limit where one was
/// set, else so many times its own size, and always something. A file that claims to be a thousand
/// times as large as it is was made to harm.
std::size_t allowance(std::size_t source_bytes);

/// Throws InvalidInput when `wanted` bytes, for `what` the source holds, are more than that.
void check_allowance(const std::string& name, double wanted, std::size_t source_bytes,
                     const std::string& what);

/// Throws InvalidInput for packed bytes that have grown to so many times their number that they
/// were made to harm, whatever memory they take: what is read piece by piece takes none.
void check_growth(const std::string& name, std::size_t unpacked, std::size_t source_bytes);

/// As check_allowance for work that keeps so many bytes for each column of sparse rows, which cost
/// nothing themselves where they hold nothing.
void check_columns(const Rows& rows, double bytes_a_column, const std::string& what);

/// The least limit among those that a control group of this process and the ones above it have, in
/// bytes; nothing larger than `most`. `line(path)` is the first line of a file, or empty.
std::size_t control_group_limit(const std::string& groups,
                                const std::function<std::string(const std::string&)>& line,
                                std::size_t most);

}  // namespace mercer
