#include "skills/read-only-path/cached_types.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

bool hasCacheHints(const Type& type) {
    constexpr std::array<std::string_view, 29> names = {"char",
                                                        "signed char",
                                                        "unsigned char",
                                                        "short",
                                                        "unsigned short",
                                                        "int",
                                                        "unsigned int",
                                                        "long",
                                                        "unsigned long",
                                                        "long long",
                                                        "unsigned long long",
                                                        "float",
                                                        "double",
                                                        "char2",
                                                        "char4",
                                                        "uchar2",
                                                        "uchar4",
                                                        "short2",
                                                        "short4",
                                                        "ushort2",
                                                        "ushort4",
                                                        "int2",
                                                        "int4",
                                                        "uint2",
                                                        "uint4",
                                                        "longlong2",
                                                        "float2",
                                                        "float4",
                                                        "double2"};
    std::string_view name = type.canonical;
    for (const std::string_view word : {"const ", "struct "})
        if (name.starts_with(word))
            name.remove_prefix(word.size());
    return type.pointerDepth == 0 && std::ranges::find(names, name) != names.end();
}

} // namespace kernelskill::skills
