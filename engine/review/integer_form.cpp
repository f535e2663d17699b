#include "engine/review/integer_form.h"

namespace kernelskill::engine {

std::optional<IntegerForm> integerFormOf(const analysis::Type& type) {
    using analysis::ScalarKind;
    if (type.pointerDepth > 0 || type.lanes != 1 || !type.arrayExtents.empty())
        return std::nullopt;
    switch (type.scalar) {
    case ScalarKind::Char:
        return IntegerForm{8, true};
    case ScalarKind::UInt8:
        return IntegerForm{8, false};
    case ScalarKind::Int16:
        return IntegerForm{16, true};
    case ScalarKind::UInt16:
        return IntegerForm{16, false};
    case ScalarKind::Int32:
        return IntegerForm{32, true};
    case ScalarKind::UInt32:
        return IntegerForm{32, false};
    case ScalarKind::Int64:
        return IntegerForm{64, true};
    case ScalarKind::UInt64:
        return IntegerForm{64, false};
    default:
        return std::nullopt;
    }
}

bool isIntegerOf(const analysis::Type& type, unsigned bits) {
    const auto form = integerFormOf(type);
    return form && form->bits == bits;
}

} // namespace kernelskill::engine
