#include "engine/inputs/compared_variables.h"

#include "engine/inputs/kernel_text.h"
#include "engine/inputs/program_text.h"
#include "engine/inputs/symbol_specs.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

std::vector<SymbolSpec> writtenBy(const ProgramText& program, const analysis::KernelModel& kernel) {
    const auto text = readKernelText(program, kernel);
    return text ? writtenVariables(program, *text->function) : std::vector<SymbolSpec>{};
}

} // namespace

std::vector<SymbolSpec> comparedVariables(KernelInFile original, KernelInFile candidate) {
    const ProgramText before(original.file);
    const ProgramText after(candidate.file);
    std::vector<SymbolSpec> compared = writtenBy(before, original.kernel);
    for (SymbolSpec& variable : writtenBy(after, candidate.kernel)) {
        if (std::ranges::find(compared, variable.name, &SymbolSpec::name) == compared.end())
            compared.push_back(std::move(variable));
    }
    std::erase_if(compared, [&](const SymbolSpec& variable) {
        return !isDeviceVariable(before, variable.name) || !isDeviceVariable(after, variable.name);
    });
    return compared;
}

std::optional<std::string> addedState(KernelInFile original, KernelInFile candidate) {
    const ProgramText before(original.file);
    const ProgramText after(candidate.file);
    const auto text = readKernelText(after, candidate.kernel);
    if (!text)
        return std::nullopt;
    for (const std::string& name : namesOfWrittenVariables(after, *text->function))
        if (!isDeviceVariable(before, name))
            return name;
    return std::nullopt;
}

LaunchSpec withVariables(LaunchSpec launch, const std::vector<SymbolSpec>& variables) {
    for (const SymbolSpec& variable : variables) {
        const auto known = std::ranges::find(launch.symbols, variable.name, &SymbolSpec::name);
        if (known == launch.symbols.end())
            launch.symbols.push_back(variable);
        else
            known->isOutput = true;
    }
    return launch;
}

} // namespace kernelskill::engine
