#include "engine/diagnosis/signals.h"

namespace kernelskill::engine {

std::vector<Signal> compilerSignals(const DiagnosisInput& input) {
    if (input.facts == nullptr)
        return {};
    const StaticFacts& facts = *input.facts;
    Signal spills;
    spills.name = "spilled_bytes_per_thread";
    spills.value = static_cast<double>(facts.spillStoreBytes + facts.spillLoadBytes);
    spills.file = input.kernel.file;
    if (input.source != nullptr)
        spills.line = input.source->lineColumn(input.kernel.nameSpan.begin).line;
    spills.numbers = {{"stored", static_cast<double>(facts.spillStoreBytes)},
                      {"loaded", static_cast<double>(facts.spillLoadBytes)},
                      {"registers", facts.registers},
                      {"stack", static_cast<double>(facts.stackBytes)}};
    spills.words = {{"compiler", facts.compiler}, {"architecture", facts.architecture}};
    return {spills};
}

} // namespace kernelskill::engine
