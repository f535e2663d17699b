/// Functions of the host that do nothing but ask the device for numbers, such as how many blocks it
/// holds at once.
#pragma once

#include "analysis/source/source_text.h"

#include <map>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The bodies, by name, of the functions of `text` that take their parameters by value, change
/// their own variables alone, and call nothing but queries of CUDA, min and max. Functions with
/// overloads and members of classes are left out, and so is what the tokens leave in doubt.
[[nodiscard]] std::map<std::string, analysis::Span> deviceQueries(std::string_view text);

} // namespace kernelskill::engine
