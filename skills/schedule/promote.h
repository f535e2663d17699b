/// The primitive `promote`: an element that a loop keeps to lives in a register for the time of it.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/kept_element.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Names for their registers, which nothing else in the kernel has.
[[nodiscard]] std::vector<std::string> registerNames(const SkillContext& context,
                                                     const std::vector<KeptElement>& elements);

enum class Register : std::uint8_t {
    Undeclared,
    Declared, ///< Before the region, without a value.
};

/// Gives the element the register, except that it is not stored behind the region.
void promote(Draft& draft, const SkillContext& context, const KeptElement& element,
             const std::string& name, Register is = Register::Undeclared);
/// Stores the registers of written elements behind their regions; only where `guard` holds, if it
/// is not empty.
void storeBack(Draft& draft, const std::vector<KeptElement>& elements,
               const std::vector<std::string>& names, const std::string& guard = {});

} // namespace kernelskill::skills
