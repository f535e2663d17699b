#include "engine/review/host/counterpart.h"

#include <algorithm>

namespace kernelskill::engine {

std::optional<std::uint32_t> counterpart(const analysis::FileModel& from, std::uint32_t function,
                                         const analysis::FileModel& to) {
    const analysis::HostFunction& wanted = from.hostFunctions[function];
    auto place = std::count_if(from.hostFunctions.begin(), from.hostFunctions.begin() + function,
                               [&](const analysis::HostFunction& other) {
                                   return other.name == wanted.name && other.file == wanted.file;
                               });
    for (std::uint32_t i = 0; i < to.hostFunctions.size(); ++i)
        if (to.hostFunctions[i].name == wanted.name && to.hostFunctions[i].file == wanted.file &&
            place-- == 0)
            return i;
    return std::nullopt;
}

} // namespace kernelskill::engine
