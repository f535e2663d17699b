/// Fields of parameters, before and after.
#include "skills/schedule/named_fields.h"
#include "tests/skills/schedule/rewritten_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string fieldsText(const std::string& source) {
    return rewrittenText(namedFields, source);
}

std::string kernelOf(const std::string& work) {
    return "struct Shape {\n    const int rows;\n    int n;\n    float* y;\n};\n"
           "__global__ void k(Shape s, const Shape* t, int rows) {\n" +
           work + "}\n";
}

TEST(NamedFields, OfALoop) {
    EXPECT_EQ(fieldsText(kernelOf(R"(    if (rows < s.n)
        return;
    int i = 0;
    while (i < s.rows) {
        s.y[i * s.n] = 0.0f;
        ++i;
    }
)")),
              kernelOf(R"(    const int n2 = s.n;
    const int rows2 = s.rows;
    if (rows < n2)
        return;
    int i = 0;
    while (i < rows2) {
        s.y[i * n2] = 0.0f;
        ++i;
    }
)"));
}

TEST(NamedFields, LeavesOthers) {
    const std::vector<std::string> works = {
        // No loop reads the field.
        "    if (rows < s.n)\n        s.y[s.n] = 0.0f;\n",
        // The kernel changes the field.
        "    for (int i = 0; i < s.n; ++i)\n        s.n = i;\n",
        // The struct is in global memory, where another thread may change it.
        "    for (int i = 0; i < t->n; ++i)\n        t->y[i] = 0.0f;\n",
        // The kernel changes a copy of the struct.
        "    Shape c = s;\n    for (int i = 0; i < c.n; ++i)\n        c.n -= 1;\n",
    };
    for (const std::string& work : works)
        EXPECT_EQ(fieldsText(kernelOf(work)), kernelOf(work));
}

TEST(NamedFields, StandBehindACommentOfTheFirstLine) {
    const std::string head = "struct Shape {\n    int n;\n};\n"
                             "__global__ void k(Shape s, float* y) { // rows\n";
    EXPECT_EQ(fieldsText(head + "    for (int i = 0; i < s.n; ++i)\n        y[i] = 0.0f;\n}\n"),
              head + "    const int n2 = s.n;\n    for (int i = 0; i < n2; ++i)\n"
                     "        y[i] = 0.0f;\n}\n");
}

} // namespace
} // namespace kernelskill::skills
