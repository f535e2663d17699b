#include "engine/assembly/listing.h"

#include "engine/static_facts/compiler_messages.h"

#include <numeric>

namespace kernelskill::engine {

std::string_view spelling(AssemblyLanguage language) {
    return language == AssemblyLanguage::Ptx ? "PTX" : "SASS";
}

std::uint32_t totalOf(const ClassCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0U) -
           counts[static_cast<std::size_t>(InstructionClass::Padding)];
}

ClassCounts countClasses(const Listing& listing) {
    ClassCounts counts{};
    for (const auto& instruction : listing.instructions)
        ++counts[static_cast<std::size_t>(instruction.kind)];
    return counts;
}

std::string readableName(const std::string& symbol) {
    // ptxas names a kernel's private functions "$kernel$function".
    const auto local = symbol.starts_with('$') ? symbol.substr(symbol.rfind('$') + 1) : symbol;
    auto name = functionName(local);
    return name.empty() ? local : name;
}

} // namespace kernelskill::engine
