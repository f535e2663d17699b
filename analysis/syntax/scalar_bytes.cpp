#include "analysis/syntax/scalar_bytes.h"

namespace kernelskill::analysis {

std::uint32_t scalarBytes(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Bool:
    case ScalarKind::Char:
    case ScalarKind::UInt8:
        return 1;
    case ScalarKind::Int16:
    case ScalarKind::UInt16:
    case ScalarKind::Half:
    case ScalarKind::BFloat16:
        return 2;
    case ScalarKind::Int32:
    case ScalarKind::UInt32:
    case ScalarKind::Float:
        return 4;
    case ScalarKind::Int64:
    case ScalarKind::UInt64:
    case ScalarKind::Double:
        return 8;
    case ScalarKind::Unknown:
    case ScalarKind::Void:
        return 0;
    }
    return 0;
}

} // namespace kernelskill::analysis
