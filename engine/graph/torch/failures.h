/// Exceptions of LibTorch as error values.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/aten.h"

#include <exception>
#include <string>

namespace kernelskill::engine::graph {

/// The first words of a message of LibTorch, on one line.
[[nodiscard]] std::string firstWords(const char* message);

/// The result of `work`, a Result; Failed, with LibTorch's reason behind `what`, if it throws.
template <typename Work>
auto withoutExceptions(const std::string& what, const std::string& where, const Work& work)
    -> decltype(work()) {
    try {
        return work();
    } catch (const c10::Error& error) {
        return std::unexpected(Error{ErrorKind::Failed,
                                     what + ": " + firstWords(error.what_without_backtrace()),
                                     where,
                                     {}});
    } catch (const std::exception& error) {
        return std::unexpected(
            Error{ErrorKind::Failed, what + ": " + firstWords(error.what()), where, {}});
    }
}

} // namespace kernelskill::engine::graph
