/// Gives arrays of a thread's own room on both sides, so that accesses by pointers that leave them
/// are seen.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {

/// Lines of a file, from 1 on, and the names of variables that are declared there.
using DeclaredNames = std::set<std::pair<std::uint32_t, std::string>>;

/// `text` with another declaration of each of these arrays: `float v[4]` becomes an `Owned` of the
/// prelude and `float (&v)[4]`, which refers to it. Lines stay. Left as they are: declarations in
/// macros, of static and constant data, with attributes, and where another variable stands in
/// front of the array.
[[nodiscard]] std::string withGuardedArrays(std::string text, const DeclaredNames& arrays);

} // namespace kernelskill::engine
