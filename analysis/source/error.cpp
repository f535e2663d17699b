#include "analysis/source/error.h"

namespace kernelskill {

std::string Error::describe() const {
    std::string text = what;
    if (!where.empty())
        text += " (" + where + ")";
    if (!remedy.empty())
        text += ". " + remedy;
    return text;
}

} // namespace kernelskill
