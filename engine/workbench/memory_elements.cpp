#include "engine/workbench/memory_elements.h"

#include "engine/inputs/argument_specs.h"
#include "engine/inputs/class_layout.h"
#include "engine/replay/element_kinds.h"

#include <algorithm>
#include <cstddef>

namespace kernelskill::engine {

using analysis::ScalarKind;

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
    return elementOf(kindOfScalars(templateArguments[at]));
}

} // namespace kernelskill::engine
