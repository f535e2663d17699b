#include "engine/final_memory/element_type.h"

#include "analysis/source/trimmed.h"
#include "engine/capture/kernel_symbol.h"
#include "engine/replay/element_kinds.h"

#include <string>

namespace kernelskill::engine {
namespace {

/// Returns "float" of "float const*"; an empty text if it is no pointer.
std::string pointee(std::string_view pointer) {
    std::string_view text = analysis::trimmed(pointer);
    if (!text.ends_with('*'))
        return {};
    text = analysis::trimmed(text.substr(0, text.size() - 1));
    for (const std::string_view qualifier : {"const", "volatile"}) {
        const std::string after = " " + std::string(qualifier);
        if (text.ends_with(after))
            text = analysis::trimmed(text.substr(0, text.size() - after.size()));
    }
    return std::string(text);
}

} // namespace

std::optional<MemoryElement> elementOf(std::string_view pointer) {
    const std::string type = pointee(pointer);
    const auto kind = kindOfScalars(type);
    if (type.ends_with('*') || kind == analysis::ScalarKind::Unknown ||
        kind == analysis::ScalarKind::Void)
        return std::nullopt;
    return elementOf(kind);
}

std::optional<MemoryElement> elementOf(const std::vector<BufferUse>& uses) {
    std::optional<MemoryElement> common;
    for (const BufferUse& use : uses) {
        const auto types = kernelSymbol(use.symbol).parameterTypes;
        const auto element =
            use.parameter < types.size() ? elementOf(types[use.parameter]) : std::nullopt;
        if (!element)
            continue;
        if (common && common != element)
            return std::nullopt;
        common = element;
    }
    return common;
}

} // namespace kernelskill::engine
