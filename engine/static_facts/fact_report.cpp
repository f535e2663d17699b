#include "engine/static_facts/fact_report.h"

#include "analysis/compile/ptxas_report.h"
#include "engine/static_facts/compiler_messages.h"

#include <algorithm>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::FunctionResources;

/// nullptr if no function, or more than one, may be the kernel.
const FunctionResources* kernelIn(const std::vector<FunctionResources>& functions,
                                  const CompileReply& reply, const std::string& kernel) {
    const auto isIt = [&](const FunctionResources& function) {
        return function.isKernel &&
               (reply.loweredNames.empty() ? functionName(function.symbol) == kernel
                                           : function.symbol == reply.loweredNames.front());
    };
    if (std::ranges::count_if(functions, isIt) != 1)
        return nullptr;
    return &*std::ranges::find_if(functions, isIt);
}

void addNotes(StaticFacts& facts, const std::vector<FunctionResources>& functions,
              bool relocatable) {
    std::uint64_t spilled = 0;
    std::size_t outOfLine = 0;
    for (const auto& function : functions) {
        if (function.isKernel)
            continue;
        ++outOfLine;
        spilled += function.spillStoreBytes.value_or(0) + function.spillLoadBytes.value_or(0);
    }
    if (spilled > 0)
        facts.notes.push_back("functions that were not inlined spill a further " +
                              std::to_string(spilled) + " bytes");
    if (relocatable && outOfLine > 0)
        facts.notes.push_back("relocatable device code: the linker may give the kernel more "
                              "registers for functions that it calls");
}

std::unexpected<Error> incomplete(const std::string& what) {
    return std::unexpected(Error{ErrorKind::Failed, "the GPU compiler's report " + what, {}, {}});
}

} // namespace

Result<StaticFacts> factsIn(const CompileReply& reply, const FactQuestion& question) {
    const auto functions = analysis::parsePtxasReport(reply.log);
    const auto* found = kernelIn(functions, reply, question.kernel);
    if (found == nullptr)
        return incomplete("does not tell the kernel");
    if (!found->registers || !found->stackBytes || !found->spillStoreBytes ||
        !found->spillLoadBytes)
        return incomplete("lacks a number");
    StaticFacts facts;
    facts.symbol = found->symbol;
    facts.architecture = question.architecture;
    facts.compiler = reply.compiler;
    facts.registers = *found->registers;
    facts.stackBytes = *found->stackBytes;
    facts.spillStoreBytes = *found->spillStoreBytes;
    facts.spillLoadBytes = *found->spillLoadBytes;
    facts.staticSharedBytes = found->staticSharedBytes;
    facts.barriers = found->barriers;
    addNotes(facts, functions, question.relocatable);
    return facts;
}

} // namespace kernelskill::engine
