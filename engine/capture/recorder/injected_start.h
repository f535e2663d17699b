/// Starts a library that the driver has loaded into the user's program.
#pragma once

#include "analysis/source/error.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::engine::capture {

/// Calls `listen` with what `parse` reads in the environment variable; does nothing if it is not
/// set. Says on standard error, behind `prefix`, why nothing comes of it. Throws nothing into the
/// program.
template <typename Parse, typename Listen>
void startInjected(const char* variable, std::string_view prefix, const Parse& parse,
                   const Listen& listen) noexcept {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0')
        return;
    std::string problem;
    try {
        auto asked = parse(text);
        const Result<void> done =
            asked ? listen(*std::move(asked)) : std::unexpected(asked.error());
        if (!done)
            problem = done.error().what;
    } catch (const std::exception& failure) {
        problem = failure.what();
    }
    if (!problem.empty())
        std::fprintf(stderr, "%.*s%s\n", static_cast<int>(prefix.size()), prefix.data(),
                     problem.c_str());
}

} // namespace kernelskill::engine::capture
