#!/bin/sh
printf 'format: nothing to do\n'
