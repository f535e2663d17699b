/// Converts clang's types to `Type`.
#pragma once

#include "analysis/parse/clang_handle.h"
#include "analysis/syntax/syntax.h"

#include <unordered_map>

namespace kernelskill::analysis {

/// Caches converted types, because a file uses few types many times. Lives as long as one lowering
/// of one unit.
class TypeLowering {
public:
    [[nodiscard]] const Type& lower(CXType type);

private:
    std::unordered_map<const void*, Type> known_;
};

} // namespace kernelskill::analysis
