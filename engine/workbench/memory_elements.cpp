#include "engine/workbench/memory_elements.h"

#include "engine/inputs/argument_specs.h"
#include "engine/inputs/class_layout.h"

#include <algorithm>
#include <cstddef>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;

MemoryElement elementOf(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Half:
        return MemoryElement::Float16;
    case ScalarKind::BFloat16:
        return MemoryElement::BFloat16;
    case ScalarKind::Float:
        return MemoryElement::Float32;
    case ScalarKind::Double:
        return MemoryElement::Float64;
    default:
        return MemoryElement::Bytes;
    }
}

/// "float4", "__nv_bfloat162" and "double4_16a" are made of what their names begin with.
ScalarKind kindOfArgument(const std::string& type) {
    ScalarKind kind = scalarKindOf(type);
    for (const auto length : {type.find_last_of("1234"), type.find_first_of("1234")})
        if (kind == ScalarKind::Unknown && length != std::string::npos)
            kind = scalarKindOf(type.substr(0, length));
    return kind;
}

} // namespace

MemoryElement memoryElementOf(const analysis::KernelModel& kernel,
                              const analysis::Parameter& parameter,
                              const std::vector<std::string>& templateArguments) {
    if (parameter.type.scalar != ScalarKind::Unknown)
        return elementOf(parameter.type.scalar);
    const auto own =
        std::ranges::find(kernel.templateParameters, bareTypeName(parameter.type.spelling),
                          &analysis::TemplateParameter::name);
    const auto at = static_cast<std::size_t>(own - kernel.templateParameters.begin());
    if (own == kernel.templateParameters.end() || at >= templateArguments.size())
        return MemoryElement::Bytes;
    return elementOf(kindOfArgument(templateArguments[at]));
}

} // namespace kernelskill::engine
