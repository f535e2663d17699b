#include "engine/replay/element_kinds.h"

#include "engine/inputs/argument_specs.h"

namespace kernelskill::engine {

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
ScalarKind kindOfScalars(const std::string& type) {
    ScalarKind kind = scalarKindOf(type);
    for (const auto length : {type.find_last_of("1234"), type.find_first_of("1234")})
        if (kind == ScalarKind::Unknown && length != std::string::npos)
            kind = scalarKindOf(type.substr(0, length));
    return kind;
}

} // namespace kernelskill::engine
