# Runs the PROGRAMS one after another, shows what they say, and fails when one of them does.
foreach(program IN LISTS PROGRAMS)
    get_filename_component(name ${program} NAME)
    message("== ${name}")
    execute_process(COMMAND ${program} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(SEND_ERROR "${name}: wrong answer (${status})")
    endif()
endforeach()
