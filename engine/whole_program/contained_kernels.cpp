#include "engine/whole_program/contained_kernels.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace kernelskill::engine {
namespace {

bool isOfName(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::set<std::string> mangledNamesIn(std::string_view bytes) {
    std::set<std::string> names;
    for (auto begin = std::ranges::find_if(bytes, isOfName); begin != bytes.end();) {
        const auto end = std::find_if_not(begin, bytes.end(), isOfName);
        if (const std::string_view name(begin, end); name.starts_with("_Z"))
            names.emplace(name);
        begin = std::find_if(end, bytes.end(), isOfName);
    }
    return names;
}

} // namespace

std::vector<ContainedKernel> kernelsIn(std::string_view program, const KernelPlaces& places,
                                       const std::filesystem::path& folder) {
    std::vector<ContainedKernel> kernels;
    for (const std::string& symbol : mangledNamesIn(program))
        if (auto place = places.of(symbol, folder))
            kernels.push_back({symbol, *std::move(place)});
    return kernels;
}

} // namespace kernelskill::engine
