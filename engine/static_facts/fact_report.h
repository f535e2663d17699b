/// Extracts the facts of one kernel from a compiler's reply.
#pragma once

#include "engine/static_facts/compile_job.h"
#include "engine/static_facts/static_facts.h"

#include <string>

namespace kernelskill::engine {

/// The kernel to look for: by its symbol if the reply has one, else by its unqualified name.
struct FactQuestion {
    std::string kernel;
    std::string architecture;
    bool relocatable = false; ///< Compiled as relocatable device code.
};

/// Failed, without a place, if the report does not identify the kernel or lacks a number.
[[nodiscard]] Result<StaticFacts> factsIn(const CompileReply& reply, const FactQuestion& question);

} // namespace kernelskill::engine
