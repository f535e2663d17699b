# kernelskill_skill(ID): the folder ID of this directory is a built-in skill. From the line follow the skill's sources, its
# place in the catalogue, its document beside the binaries, and its tests.
#
# The folder holds ID.cpp, which ends in KERNELSKILL_SKILL(IdSkill), further sources if it needs any, SKILL.md, and the example
# before.cu and after.cu. Its tests are in the same folder of tests/skills/.
macro(kernelskill_skill id)
    foreach(file ${id}.cpp SKILL.md before.cu after.cu)
        if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${id}/${file})
            message(FATAL_ERROR "the skill ${id} has no ${file}; docs/new-skill.md says what a skill is made of")
        endif()
    endforeach()
    file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${id}/*.cpp)
    list(APPEND kernelskill_skill_sources ${sources})
    set_property(GLOBAL APPEND PROPERTY kernelskill_skill_ids ${id})
endmacro()

# kernelskill_skill_catalogue(RESULT): the source that makes all skills, from the lines so far, and the target that lays
# their documents where the binaries look for them: <bin>/../share/kernelskill/skills/<id>/SKILL.md.
function(kernelskill_skill_catalogue result)
    get_property(ids GLOBAL PROPERTY kernelskill_skill_ids)
    set(declarations)
    set(calls)
    set(documents)
    foreach(id IN LISTS ids)
        string(REPLACE "-" ";" words ${id})
        set(name)
        foreach(word IN LISTS words) # vectorized-access: VectorizedAccess
            string(SUBSTRING ${word} 0 1 first)
            string(SUBSTRING ${word} 1 -1 rest)
            string(TOUPPER ${first} first)
            string(APPEND name ${first}${rest})
        endforeach()
        string(APPEND declarations "std::unique_ptr<Skill> make${name}Skill(std::string id);\n")
        string(APPEND calls "    skills.push_back(make${name}Skill(\"${id}\"));\n")
        set(document ${PROJECT_BINARY_DIR}/share/kernelskill/skills/${id}/SKILL.md)
        add_custom_command(OUTPUT ${document}
            COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/${id}/SKILL.md ${document}
            DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${id}/SKILL.md)
        list(APPEND documents ${document})
    endforeach()
    file(GLOB laid RELATIVE ${PROJECT_BINARY_DIR}/share/kernelskill/skills ${PROJECT_BINARY_DIR}/share/kernelskill/skills/*)
    foreach(id IN LISTS laid) # A skill that is gone leaves no document behind.
        if(NOT id IN_LIST ids)
            file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/share/kernelskill/skills/${id})
        endif()
    endforeach()
    add_custom_target(kernelskill_skill_documents ALL DEPENDS ${documents})
    set(file ${CMAKE_CURRENT_BINARY_DIR}/catalogue.cpp)
    configure_file(${CMAKE_CURRENT_SOURCE_DIR}/catalogue.cpp.in ${file} @ONLY)
    set(${result} ${file} PARENT_SCOPE)
endfunction()

# kernelskill_skill_tests(RESULT): the sources of the tests of every skill, in the folders of this directory. A skill without
# a test is an error.
function(kernelskill_skill_tests result)
    get_property(ids GLOBAL PROPERTY kernelskill_skill_ids)
    set(tests)
    foreach(id IN LISTS ids)
        file(GLOB found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${id}/*_test.cpp)
        if(NOT found)
            message(FATAL_ERROR "the skill ${id} has no test in tests/skills/${id}")
        endif()
        list(APPEND tests ${found})
    endforeach()
    set(${result} ${tests} PARENT_SCOPE)
endfunction()
