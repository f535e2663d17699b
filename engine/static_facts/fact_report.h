/// From a compiler's reply to the facts of one kernel.
#pragma once

#include "engine/static_facts/compile_job.h"
#include "engine/static_facts/static_facts.h"

#include <string>

namespace kernelskill::engine {

/// Whose facts: by its symbol where the reply tells it, else by its unqualified name.
struct FactQuestion {
    std::string kernel;
    std::string architecture;
    bool relocatable = false; ///< Compiled as relocatable device code.
};

/// Failed, without a place, when the report does not tell the kernel from others or lacks a number.
[[nodiscard]] Result<StaticFacts> factsIn(const CompileReply& reply, const FactQuestion& question);

} // namespace kernelskill::engine
